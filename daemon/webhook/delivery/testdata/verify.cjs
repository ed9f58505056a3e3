// Verifies deliveries by the reference library of Standard Webhooks. Standard
// input is a list of {secret, headers, body}; the answer is a list of booleans.
const { Webhook } = require("standardwebhooks");

const accepted = ({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch (error) {
    if (error.name === "WebhookVerificationError") return false;
    throw error;
  }
};

const deliveries = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(deliveries.map(accepted)));
