//! Calls that the client gets. Several can be open at once.

use crate::gateway::conversation::request::ClientTool;
use crate::gateway::format::responses::front::events::{ResponseEncoder, of_item};
use crate::gateway::format::responses::front::input::APPROVAL;
use crate::gateway::format::responses::front::item::Event;
use crate::gateway::format::responses::front::open::{CallKind, OpenCall};
use crate::wire::FinishReason;

impl ResponseEncoder {
    pub(super) fn call(
        &mut self,
        index: usize,
        id: &str,
        name: &str,
        custom: bool,
        out: &mut Vec<u8>,
    ) {
        self.close_complete(out);
        let server = self.context.server.as_ref();
        let server = server.filter(|it| it.tools.iter().any(|tool| tool.name == name));
        let label = server.map(|server| server.label.clone());
        let known = self.context.tools.iter().find(|(known, _)| known == name);
        let tool = known.map(|(_, tool)| tool);
        let kind = CallKind::of(custom, tool, label);
        let (name, namespace) = match tool {
            Some(ClientTool::Member { namespace, name }) => (name.clone(), Some(namespace.clone())),
            _ => (name.to_owned(), None),
        };
        let (position, item_id) = self.add(kind.prefix());
        let item_id = match kind.is_approval() {
            true => format!("{APPROVAL}{id}"),
            false => item_id,
        };
        let (call_id, arguments) = (id.to_owned(), String::new());
        let call = OpenCall { index, position, item_id, call_id, name, namespace, kind, arguments };
        self.added(position, &call.json("in_progress"), out);
        self.calls.push(call);
    }

    /// Ends what is open before another item. The provider may go on with a call, unless it is complete.
    pub(super) fn close_complete(&mut self, out: &mut Vec<u8>) {
        self.close_open(out);
        let (complete, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.calls).into_iter().partition(OpenCall::is_complete);
        self.calls = open;
        complete.into_iter().for_each(|call| self.close_call(call, out));
    }

    pub(super) fn arguments(&mut self, index: usize, fragment: &str, out: &mut Vec<u8>) {
        if fragment.is_empty() || !self.keeps(fragment.len()) {
            return;
        }
        let Some(at) = self.calls.iter().position(|call| call.index == index) else { return };
        let mut call = self.calls.remove(at);
        call.arguments.push_str(fragment);
        if let Some(kind) = call.kind.delta_event() {
            let event = Event { delta: Some(fragment), ..of_item(call.position, &call.item_id) };
            self.write(kind, event, out);
        }
        self.calls.insert(at, call);
    }

    pub(super) fn close_call(&mut self, call: OpenCall, out: &mut Vec<u8>) {
        if let Some(kind) = call.kind.done_event() {
            let text = Some(&*call.arguments);
            let event = of_item(call.position, &call.item_id);
            let event = match call.kind.is_custom() {
                true => Event { input: text, ..event },
                false => Event { name: Some(&call.name), arguments: text, ..event },
            };
            self.write(kind, event, out);
        }
        let is_cut = self.finish == FinishReason::Length && !call.is_complete();
        let status = if is_cut { "incomplete" } else { "completed" };
        self.done(call.position, call.json(status), out);
    }
}
