// Stands in for another Worker in tests, which answer its requests.
export default { fetch: (request) => fetch(request) };
