// expect: ["5 seconds ago","1 minute ago","5 hours ago","yesterday","tomorrow","last week","2 months ago","next year","now"]
const rtf = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const units: [Intl.RelativeTimeFormatUnit, number][] = [['year', 31536e6], ['month', 2628e6], ['week', 6048e5], ['day', 864e5], ['hour', 36e5], ['minute', 6e4], ['second', 1e3]];
function ago(from: Date, to: Date): string {
  const diff = from.getTime() - to.getTime();
  for (const [unit, ms] of units) if (Math.abs(diff) >= ms || unit === 'second') return rtf.format(Math.round(diff / ms), unit);
  return '';
}
const base = new Date('2024-07-15T13:45:30Z');
return [-5e3, -6e4, -36e5 * 5, -864e5, 864e5, -864e5 * 9, -2628e6 * 2, 31536e6, 0].map((d) => ago(new Date(+base + d), base));
