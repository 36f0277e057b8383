// Notes what a file says about a person, and writes a summary that somebody approves.
const listing = await files.list_directory({ path: "." });
const { content } = await files.read_text_file({ path: "ada.txt" });
const born = Number(content.match(/\d{4}/)?.[0]);

// What a rollback moved out of the way is still there: take a name that nobody has used.
let path = "summary.txt";
for (let n = 2; listing.content.includes(path); n++) path = `summary-${n}.txt`;

await memory.create_entities({ entities: [{ name: "Ada", entityType: "person", observations: [content.trim()] }] });
await files.write_file({ path, content: `Ada was born in ${born}.\n` });

const { entities } = await memory.read_graph({});
return { files: listing.content.split("\n").length, known: entities.map((e) => e.name) };
