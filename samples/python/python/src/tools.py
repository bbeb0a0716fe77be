"""The tools: functions of a call, in the protocol that docs/TOOLS.md describes under "Tools in Python and other languages"."""

import json
import re
from collections import Counter


class ToolError(Exception):
    """Why a tool failed, for the user and the model."""

    def __init__(self, message: str, **options: object) -> None:
        super().__init__(message)
        self.error = {"message": message, **options}


def keywords(call: dict) -> list[dict]:
    """Text.Keywords: the words that a text uses most. The server has checked the input."""
    words = re.findall(r"[^\W\d_]{4,}", call["input"]["text"].lower())
    if not words:
        raise ToolError("The text has no words of four letters or more", prompt="Pass a longer text.")
    return [{"word": word, "count": count} for word, count in Counter(words).most_common(call["input"]["limit"])]


TOOLS = {"Text.Keywords": keywords}


def answer(text: str) -> str:
    """The JSON that answers the JSON of a call. Whatever else a tool raises fails the call, and stays here."""
    call = json.loads(text)
    try:
        return json.dumps({"value": TOOLS[call["tool"]](call)})
    except ToolError as error:
        return json.dumps({"error": error.error})
