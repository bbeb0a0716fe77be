// Server-Sent Events as a strict client reads them.

/** The events of a stream: `{ event, data, comment }`. */
export function parse(text) {
  return text.replaceAll("\r\n", "\n").split("\n\n").filter(Boolean).map((block) => {
    const one = { data: [] };
    for (const line of block.split("\n")) {
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (field === "data") one.data.push(value);
      else if (field === "event") one.event = value;
      else if (field === "") one.comment = value;
    }
    return { ...one, data: one.data.length > 0 ? one.data.join("\n") : undefined };
  });
}

/** The data of the events as JSON. Throws if an event has not the name of its type: SDKs skip such events. */
export function typed(text) {
  return parse(text).filter(({ data }) => data !== undefined).map(({ event, data }) => {
    const one = JSON.parse(data);
    if (event !== one.type) throw new Error(`an event of the type ${one.type} is named ${event}: ${data}`);
    return one;
  });
}
