// expect: {"counts":{"pending":12,"refunded":12,"paid":33},"months":[["2024-01",4,1456],["2024-02",5,1641],["2024-03",5,1327],["2024-04",5,1013],["2024-05",5,1198],["2024-06",5,884],["2024-07",5,570],["2024-08",5,755],["2024-09",5,941],["2024-10",5,1126],["2024-11",4,1159],["2024-12",4,1307]],"proto":null}
const { data } = await tools.listOrders({ pageSize: 57 });
const groups = Object.groupBy(data as any[], (o: any) => o.status);
const months = Map.groupBy(data as any[], (o: any) => o.createdAt.slice(0, 7));
return {
  counts: Object.fromEntries(Object.entries(groups).map(([k, v]) => [k, v!.length])),
  months: [...months].map(([m, v]) => [m, v.length, Math.round(v.reduce((s, o) => s + o.total, 0))]).sort(),
  proto: Object.getPrototypeOf(groups),
};
