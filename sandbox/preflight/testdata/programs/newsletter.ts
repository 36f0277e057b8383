const customers = await crm.find_customers({ query: "newsletter" });
const recipients = customers.filter((c) => c.tags.includes("newsletter") && c.email);
let sent = 0;
for (const recipient of recipients.slice(0, 100)) {
  await mail.send({ to: recipient.email, subject: "News", body: `Dear ${recipient.name}, …` });
  sent++;
}
return { sent };
