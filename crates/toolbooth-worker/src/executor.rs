//! Runs the futures of requests. `wasm_bindgen_futures::spawn_local` does so too, but polls each a second time at once, and uses
//! workerd's `queueMicrotask`, which wraps each function in an object of its own: that costs more than most polls.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};

use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(module = "/js/soon.js")]
extern "C" {
    fn soon(run: &Closure<dyn FnMut(JsValue)>);
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    /// The tasks of all requests, except the one that is being polled.
    static WAITING: RefCell<Vec<(u32, Task)>> = const { RefCell::new(Vec::new()) };
    /// Those that will be polled soon.
    static WOKEN: RefCell<Vec<Arc<TaskWaker>>> = const { RefCell::new(Vec::new()) };
    static POLL_WOKEN: Closure<dyn FnMut(JsValue)> = Closure::new(|_| poll_woken());
}

/// Polls `future`, and returns its value if it waits for nothing. Otherwise `done` gets the value later. No other task has this id.
pub(crate) fn run<T>(
    id: u32,
    mut future: Pin<Box<impl Future<Output = T> + 'static>>,
    done: impl FnOnce(T) + 'static,
) -> Option<T> {
    // When the runtime ends the execution of JavaScript, it drops the microtasks that wait, perhaps that of `soon`.
    if !WOKEN.with_borrow(Vec::is_empty) {
        POLL_WOKEN.with(soon);
    }
    let waker = Arc::new(TaskWaker(id));
    match future.as_mut().poll(&mut Context::from_waker(&waker.clone().into())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => {
            keep(waker.0, Box::pin(async move { done(future.await) }));
            None
        }
    }
}

/// Ends the task with this id, if it waits.
pub(crate) fn cancel(id: u32) {
    drop(take(id));
}

fn poll_woken() {
    for waker in WOKEN.take() {
        // A task that has ended may still be woken.
        let Some(mut task) = take(waker.0) else { continue };
        if task.as_mut().poll(&mut Context::from_waker(&waker.clone().into())).is_pending() {
            keep(waker.0, task);
        }
    }
}

fn keep(id: u32, task: Task) {
    WAITING.with_borrow_mut(|waiting| waiting.push((id, task)));
}

fn take(id: u32) -> Option<Task> {
    WAITING.with_borrow_mut(|waiting| {
        // From the end: what has waited for long may wait for ever.
        let at = waiting.iter().rposition(|(other, _)| *other == id)?;
        Some(waiting.swap_remove(at).1)
    })
}

/// Wakes the task with this id. If none is left, nothing can wake the task any more, so it ends. A promise that will never settle,
/// because its request has ended, keeps the waker: [`cancel`] ends such a task.
struct TaskWaker(u32);

impl Wake for TaskWaker {
    // Some futures are only ready after they have called this, such as `worker::Delay`, so it does not poll.
    fn wake(self: Arc<Self>) {
        WOKEN.with_borrow_mut(|woken| {
            if woken.is_empty() {
                POLL_WOKEN.with(soon);
            }
            if woken.iter().all(|waker| waker.0 != self.0) {
                woken.push(self);
            }
        });
    }
}

impl Drop for TaskWaker {
    fn drop(&mut self) {
        drop(take(self.0));
    }
}
