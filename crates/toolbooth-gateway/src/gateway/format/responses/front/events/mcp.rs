//! What compiled-in tools add to a response: their list, and the calls that the gateway ran.

use crate::gateway::format::responses::front::answer;
use crate::gateway::format::responses::front::events::{ResponseEncoder, of_item};
use crate::gateway::format::responses::front::input::RAN;
use crate::gateway::format::responses::front::item::{ErrorText, Event, OutputItem, ToolFailure};
use crate::gateway::relay::report::RanCall;
use crate::wire::Json;
use toolbooth::json::{self, Rendered, Value};

impl ResponseEncoder {
    /// Writes the list of this server's tools, unless the conversation has it.
    pub(super) fn list_tools(&mut self, out: &mut Vec<u8>) {
        let Some(server) = self.context.server.take_if(|it| !it.is_listed && !it.tools.is_empty())
        else {
            return;
        };
        let tools = answer::listed(&server.tools);
        let (index, id) = self.add("mcpl");
        let item = |tools| {
            json::to_string(&OutputItem {
                id: &id,
                r#type: "mcp_list_tools",
                server_label: Some(&server.label),
                tools: Some(Rendered(tools)),
                ..OutputItem::default()
            })
        };
        self.added(index, &item("[]"), out);
        for kind in ["response.mcp_list_tools.in_progress", "response.mcp_list_tools.completed"] {
            self.write(kind, of_item(index, &id), out);
        }
        self.done(index, item(&tools), out);
        self.context.server = Some(server);
    }

    /// A call that the gateway has run.
    pub(super) fn ran_call(&mut self, call: &RanCall, out: &mut Vec<u8>) {
        let (index, _) = self.add("mcp");
        let id = format!("{RAN}{}", call.id);
        let label = self.label.clone();
        let mut approved = self.context.approved.iter();
        let request = approved.find(|it| it.call.id == call.id).map(|it| it.request_id.clone());
        let item = |status, arguments: &str, output, error| {
            json::to_string(&OutputItem {
                id: &id,
                r#type: "mcp_call",
                status: Some(status),
                approval_request_id: request.as_deref(),
                server_label: Some(&label),
                name: Some(&call.called),
                arguments: Some(Json::Value(Value::from(arguments))),
                output: Some(output),
                error: Some(error),
                ..OutputItem::default()
            })
        };
        self.added(index, &item("in_progress", "", None, None), out);
        self.write("response.mcp_call.in_progress", of_item(index, &id), out);
        let arguments = &*call.arguments;
        let event = Event { delta: Some(arguments), ..of_item(index, &id) };
        self.write("response.mcp_call_arguments.delta", event, out);
        let event = Event { arguments: Some(arguments), ..of_item(index, &id) };
        self.write("response.mcp_call_arguments.done", event, out);
        let item = match &call.error {
            None => {
                self.write("response.mcp_call.completed", of_item(index, &id), out);
                item("completed", arguments, Some(&*call.output), None)
            }
            Some(_) => {
                self.write("response.mcp_call.failed", of_item(index, &id), out);
                let content = [ErrorText { r#type: "text", text: &call.output }];
                let error = ToolFailure { r#type: "mcp_tool_execution_error", content };
                item("failed", arguments, None, Some(error))
            }
        };
        self.done(index, item, out);
    }
}
