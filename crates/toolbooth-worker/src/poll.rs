//! Polls a future once before it is spawned.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Returns the value of `future` if it does not wait for anything, otherwise the rest of it, to be spawned.
pub(crate) fn poll_once<T, F: Future<Output = T>>(
    mut future: Pin<Box<F>>,
) -> Result<T, impl Future<Output = T>> {
    let first = Arc::new(FirstWaker::default());
    match future.as_mut().poll(&mut Context::from_waker(&first.clone().into())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err(poll_fn(move |context| {
            first.forward_to(context.waker());
            future.as_mut().poll(context)
        })),
    }
}

/// The waker of the first poll. Wakes the task that has spawned the future since.
///
/// A future should forget it when it is polled again, but some keep the first waker that they see, such as
/// `worker::Delay`. With a waker that does nothing, they would wait forever.
#[derive(Default)]
struct FirstWaker(Mutex<Option<Waker>>);

impl FirstWaker {
    fn forward_to(&self, waker: &Waker) {
        if let Ok(mut task) = self.0.lock() {
            *task = Some(waker.clone());
        }
    }
}

impl Wake for FirstWaker {
    fn wake(self: Arc<Self>) {
        if let Ok(Some(task)) = self.0.lock().as_deref() {
            task.wake_by_ref();
        }
    }
}
