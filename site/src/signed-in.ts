// The page to which the server sends the window of a sign-in: reports its query to the page that waits, and closes itself.
import { CHANNEL } from "./sign-in.ts";

const response = Object.fromEntries(new URLSearchParams(location.search));
// The code has been used before anyone could read it in the history.
history.replaceState(null, "", location.pathname);
new BroadcastChannel(CHANNEL).postMessage(response);
close();
