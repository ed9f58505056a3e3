// Reads deliveries by the SDK of CloudEvents. Standard input is a list of {headers, body}; the answer
// is a list of the events, in their JSON format. The SDK leaves decoding of attributes to its caller.
const { HTTP, ValidationError } = require("cloudevents");

const read = ({ headers, body }) => {
  try {
    const event = HTTP.toEvent({ headers, body });
    event.validate();
    const json = event.toJSON();
    if (json.subject) json.subject = decodeURIComponent(json.subject);
    return json;
  } catch (error) {
    if (error instanceof ValidationError || error instanceof TypeError) return { error: error.message };
    throw error;
  }
};

const deliveries = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(deliveries.map(read)));
