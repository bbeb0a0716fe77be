// The formats in which clients talk to a gateway. The checks write conversations in the form of Chat Completions, and read
// answers in it; a front translates both.
//
// - `request(body)`: the body of a request in the front's format.
// - `answer(json)`: `{ message, calls, finish, usage, _2api }` of an answer. `message.native` is the message as it goes back.
// - `fold(text)`: the same of a stream, with `finishes`, `errors`, and `done` if it has ended as complete streams do.
// - `grammar(text)`: throws if a stream is not what the types of the provider's SDK say.
// - `error(json)`: the error in a body.
import { chat } from "./chat.mjs";
import { messages } from "./messages.mjs";
import { responses } from "./responses.mjs";

export const FRONTS = { chat, messages, responses };
