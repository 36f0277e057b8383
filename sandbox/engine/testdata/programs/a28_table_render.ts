// expect: "| id    |  total | currency | createdAt    |\n|-------|--------|----------|--------------|\n| ord_3 | 111.39 | USD      | Apr 04, 2024 |\n| ord_4 | 148.52 | USD      | May 05, 2024 |\n| ord_5 | 185.65 | USD      | Jun 06, 2024 |\n| ord_8 | 297.04 | USD      | Sep 09, 2024 |"
const { data } = await tools.listOrders({ pageSize: 4, status: 'paid' });
const cols = ['id', 'total', 'currency', 'createdAt'] as const;
const rows = data.map((o: any) => cols.map((c) => (c === 'total' ? o[c].toFixed(2) : c === 'createdAt' ? new Date(o[c]).toLocaleDateString('en-US', { month: 'short', day: '2-digit', year: 'numeric' }) : String(o[c]))));
const w = cols.map((c, i) => Math.max(c.length, ...rows.map((r: string[]) => r[i].length)));
const line = (cells: readonly string[]) => '| ' + cells.map((c, i) => (i === 1 ? c.padStart(w[i]) : c.padEnd(w[i]))).join(' | ') + ' |';
const md = [line(cols), '|' + w.map((n) => '-'.repeat(n + 2)).join('|') + '|', ...rows.map(line)].join('\n');
console.log(md); console.table(data.slice(0, 1)); console.error('%s of %d', 'a', 3);
return md;
