/** Functions of the hourly counts. */
export const countCalls: readonly string[] = [
  `create function "addLatencies"(a integer[], b integer[]) returns integer[]
    language plpgsql immutable strict parallel safe as $$
    begin
      for at in 1..80 loop a[at] := a[at] + b[at]; end loop;
      return a;
    end $$`,
  `create aggregate "sumLatencies"(integer[]) (
    sfunc = "addLatencies", stype = integer[], initcond = '{${Array(80).fill(0).join(',')}}',
    combinefunc = "addLatencies", parallel = safe
  )`,

  `create function "countScore"("ofProjectId" text, "ofKind" text, "ofHourMs" bigint,
    "ofBin" integer, "isMatched" integer) returns void language plpgsql as $$
  begin
    insert into "scoreHours" as h ("projectId", kind, "hourMs", bin, count, matched)
      values ("ofProjectId", "ofKind", "ofHourMs", "ofBin", 1, "isMatched")
      on conflict ("projectId", kind, "hourMs", bin)
      do update set count = h.count + 1, matched = h.matched + excluded.matched;
  end $$`,
]
