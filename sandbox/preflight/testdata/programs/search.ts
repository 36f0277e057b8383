const { results } = await codemode.search("issues by label", { limit: 5 });
const [best] = results;
const about = best ? await codemode.describe(best.path) : null;
console.log(about);
const page = await tracker.list_issues({ state: "closed", limit: 3 });
return page.issues.map((issue) => issue.title.toUpperCase());
