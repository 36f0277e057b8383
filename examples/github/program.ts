// Counts the open issues of a repository by label. GitHub calls the operation issues/list-for-repo.
const counts = {};
for (let page = 1; page <= 3; page++) {
  const issues = await github.issues_list_for_repo({ owner: "temporalio", repo: "sdk-go", state: "open", per_page: 50, page });
  for (const label of issues.flatMap((i) => i.labels)) counts[label.name] = (counts[label.name] ?? 0) + 1;
  if (issues.length < 50) break;
}
return counts;
