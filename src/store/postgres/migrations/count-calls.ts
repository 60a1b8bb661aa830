/** Functions that write the request log and the hourly counts. */
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

  // Adds a row to the request log and to its hourly count. `bucket`: the latency's, counted from 1.
  `create function "recordCall"("callAtMs" bigint, "ofKeyId" text, "ofProjectId" text,
    "ofRequestId" text, "ofAction" text, "ofCode" text, "tookMs" double precision, bucket integer,
    "paidMicros" bigint, "notPaidMicros" bigint, "wasReplay" integer, "paidBy" bigint) returns void
  language plpgsql as $$
  begin
    insert into calls ("atMs", "keyId", "projectId", "requestId", action, code, "latencyMs",
        "costMicros", "meteredMicros", "isReplay", "transferId")
      values ("callAtMs", "ofKeyId", "ofProjectId", "ofRequestId", "ofAction", "ofCode", "tookMs",
        "paidMicros", "notPaidMicros", "wasReplay", "paidBy");
    insert into "callHours" as h ("hourMs", "projectId", "keyId", action, code, calls, billed,
        "costMicros", "meteredMicros", latencies)
      values (floor("callAtMs" / 3600000.0)::bigint * 3600000, "ofProjectId", "ofKeyId", "ofAction",
        "ofCode", 1, case when "paidBy" is null then 0 else 1 end, "paidMicros", "notPaidMicros",
        array_fill(0, array[bucket - 1]) || 1 || array_fill(0, array[80 - bucket]))
      on conflict ("hourMs", "projectId", "keyId", action, code) do update set
        calls = h.calls + 1, billed = h.billed + excluded.billed,
        "costMicros" = h."costMicros" + excluded."costMicros",
        "meteredMicros" = h."meteredMicros" + excluded."meteredMicros",
        latencies[bucket] = h.latencies[bucket] + 1;
  end $$`,
]
