// expect: {"long":"Monday, July 15, 2024","time":"1:45 PM","both":"Jul 15, 2024, 1:45:30 PM UTC","short":"Jul 15","ym":"July 2024","week":"2024-07-15T00:00:00.000Z","quarter":3,"last":"2024-07-31","loc":"7/15/2024","locT":"1:45:30 PM","iso":"2024-07-15T13:45:30.000Z","utc":"Mon, 15 Jul 2024 13:45:30 GMT","str":"Mon Jul 15 2024 13:45:30 GMT+0000 (Coordinated Universal Time)","ds":"Mon Jul 15 2024","zones":["7/15/24, 9:45 AM","7/15/24, 2:45 PM","7/15/24, 7:15 PM","7/15/24, 11:45 PM","7/15/24, 1:45 PM"],"h23":"22:45","gb":"15/07/2024","sv":"2024-07-15","ca":"2024-07-15","named":"7/15/2024, 8:45:30 AM CDT","parts":"07|/|15|/|2024"}
const now = new Date((await tools.now()) as string);
const fmt = (d: Date, o: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...o }).format(d);
const startOfWeek = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - ((now.getUTCDay() + 6) % 7)));
const quarter = Math.floor(now.getUTCMonth() / 3) + 1;
const lastDay = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0));
return {
  long: fmt(now, { dateStyle: 'full' }), time: fmt(now, { timeStyle: 'short' }), both: fmt(now, { dateStyle: 'medium', timeStyle: 'long' }),
  short: fmt(now, { month: 'short', day: 'numeric' }), ym: fmt(now, { year: 'numeric', month: 'long' }), week: startOfWeek.toISOString(), quarter,
  last: lastDay.toISOString().split('T')[0], loc: now.toLocaleDateString(), locT: now.toLocaleTimeString(), iso: now.toJSON(), utc: now.toUTCString(), str: now.toString(), ds: now.toDateString(),
  zones: ['America/New_York', 'Europe/London', 'Asia/Kolkata', 'Australia/Sydney', 'UTC'].map((timeZone) => now.toLocaleString('en-US', { timeZone, dateStyle: 'short', timeStyle: 'short' })),
  h23: now.toLocaleTimeString('en-US', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'Asia/Tokyo' }), gb: now.toLocaleDateString('en-GB'), sv: now.toLocaleDateString('sv-SE'), ca: now.toLocaleDateString('en-CA', { timeZone: 'America/Los_Angeles' }),
  named: now.toLocaleString('en-US', { timeZone: 'America/Chicago', timeZoneName: 'short' }), parts: new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(now).map((p) => p.value).join('|'),
};
