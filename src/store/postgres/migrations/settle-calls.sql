-- Completes the calls of one project. It stores the responses for replays and the subjects in them,
-- releases the reservations, adds the charges to their hash chain, updates the counts and writes the log
-- rows: each with one statement for all calls. A chain's hash covers the previous hash and the row as
-- text. The caller sends that text without the sequence number, which is assigned here.
--
-- Returns the index of each call that was settled: the others no longer own their attempts.

create type "settledCall" as (index integer, scope text, "projectId" text, "requestId" text,
  token text, code text, response bytea, scrubbed bytea, "subjectIds" text[],
  "reservedMicros" bigint, "amountMicros" bigint, "meteredMicros" bigint, action text,
  "windowStartMs" bigint, "nowMs" bigint, "linkBefore" text, "linkAfter" text,
  "scoreKinds" text[], "scoreBins" integer[], "scoreMatches" integer[], "atMs" bigint,
  "keyId" text, "loggedRequestId" text, "loggedAction" text, "latencyMs" double precision,
  detail text, bucket integer, outcome text, similarity double precision,
  "livenessScore" double precision, threshold double precision, margin double precision,
  quality double precision, reason text, "nearMiss" integer);

create function "settleCalls"("input" json)
returns table (index integer) language plpgsql as $$
declare
  "inputCalls" "settledCall"[];
  "settled" "settledCall"[];
  call "settledCall";
  head record;
  "reservedSumMicros" bigint := 0;
  "chargedSumMicros" bigint := 0;
  "seq" bigint;
  "hash" bytea;
  "seqs" bigint[] := '{}';
  "hashes" bytea[] := '{}';
  budget text;
begin
  "inputCalls" := array(select c from json_populate_recordset(null::"settledCall", "input") as c);
  perform set_config('facegate.account', "inputCalls"[1].scope, true);
  budget := 'budget:' || "inputCalls"[1]."projectId";
  with completed as (
    update attempts a set state = 'done', "reservedMicros" = 0, code = c.code,
        response = c.response, scrubbed = c.scrubbed
      from unnest("inputCalls") as c
      where a."projectId" = c."projectId" and a."requestId" = c."requestId"
        and a.token = c.token and a.state = 'running'
      returning c.index)
  select array_agg(c order by c.index) into "settled"
    from unnest("inputCalls") as c join completed on completed.index = c.index;
  if "settled" is null then return; end if;

  foreach call in array "settled" loop
    "reservedSumMicros" := "reservedSumMicros" + call."reservedMicros";
    "chargedSumMicros" := "chargedSumMicros" + call."amountMicros";
    if call."amountMicros" > call."reservedMicros" then
      raise exception 'the price of a call is higher than its reservation';
    end if;
    if array_length(call."subjectIds", 1) > 0 then
      insert into "responseSubjects" ("subjectId", "projectId", "requestId")
        select distinct id, call."projectId", call."requestId"
        from unnest(call."subjectIds") as id;
    end if;
    for at in 1..coalesce(array_length(call."scoreBins", 1), 0) loop
      insert into "scoreHours" as h ("projectId", kind, "hourMs", bin, count, matched)
        values (call."projectId", call."scoreKinds"[at],
          floor(call."nowMs" / 3600000.0)::bigint * 3600000, call."scoreBins"[at], 1,
          call."scoreMatches"[at])
        on conflict ("projectId", kind, "hourMs", bin)
        do update set count = h.count + 1, matched = h.matched + excluded.matched;
    end loop;
  end loop;

  if "reservedSumMicros" > 0 then
    select l."headSeq", l."headHash" into head from ledgers l where l.ledger = budget for update;
    if not found then raise exception '% is missing', budget; end if;
    "seq" := head."headSeq";
    "hash" := head."headHash";
    foreach call in array "settled" loop
      if call."amountMicros" > 0 then
        "seq" := "seq" + 1;
        "hash" := sha256("hash"
          || convert_to(call."linkBefore" || "seq" || call."linkAfter", 'UTF8'));
        "seqs" := "seqs" || "seq";
        "hashes" := "hashes" || "hash";
      else
        "seqs" := "seqs" || null::bigint;
        "hashes" := "hashes" || null::bytea;
      end if;
    end loop;
    update ledgers l set "reservedMicros" = l."reservedMicros" - "reservedSumMicros",
        "balanceMicros" = l."balanceMicros" - "chargedSumMicros", "headSeq" = "seq",
        "headHash" = "hash"
      where l.ledger = budget and l."reservedMicros" >= "reservedSumMicros";
    if not found then raise exception '% does not have the reservation', budget; end if;
  end if;

  with "groups" as (
    select floor(c."atMs" / 3600000.0)::bigint * 3600000 as "hourMs", c."keyId",
        c."loggedAction", c.code, coalesce(c.outcome, '') as outcome, count(*) as calls,
        count(*) filter (where c."amountMicros" > 0) as billed,
        sum(c."amountMicros") as "costMicros", sum(c."meteredMicros") as "meteredMicros",
        sum(c."nearMiss") as "nearMisses",
        coalesce(sum(floor(c.similarity * 10000 + 0.5)), 0) as "similaritySum",
        count(c.quality) as rated, coalesce(sum(floor(c.quality + 0.5)), 0) as "qualitySum",
        array_agg(c.bucket) as buckets
      from unnest("settled") as c group by 1, 2, 3, 4, 5)
  insert into "callHours" as h ("hourMs", "projectId", "keyId", action, code, outcome, calls, billed,
      "costMicros", "meteredMicros", "nearMisses", "similaritySum", rated, "qualitySum", latencies)
    select g."hourMs", "settled"[1]."projectId", g."keyId", g."loggedAction", g.code, g.outcome,
        g.calls, g.billed, g."costMicros", g."meteredMicros", g."nearMisses", g."similaritySum",
        g.rated, g."qualitySum", array(
          select coalesce(n.count, 0)::integer from generate_series(1, 80) as at
            left join (select b, count(*) from unnest(g.buckets) as b group by b) as n on n.b = at
            order by at)
      from "groups" as g order by 1, 3, 4, 5, 6
    on conflict ("hourMs", "projectId", "keyId", action, code, outcome) do update set
      calls = h.calls + excluded.calls, billed = h.billed + excluded.billed,
      "costMicros" = h."costMicros" + excluded."costMicros",
      "meteredMicros" = h."meteredMicros" + excluded."meteredMicros",
      "nearMisses" = h."nearMisses" + excluded."nearMisses",
      "similaritySum" = h."similaritySum" + excluded."similaritySum",
      rated = h.rated + excluded.rated, "qualitySum" = h."qualitySum" + excluded."qualitySum",
      latencies = "addLatencies"(h.latencies, excluded.latencies);

  return query with ordered as (
    select c.*, row_number() over (order by c.index) as place from unnest("settled") as c
  ), numbered as (
    select o.*, "seqs"[o.place] as seq, "hashes"[o.place] as hash from ordered as o
  ), charged as (
    insert into "ledgerTransfers" as t (chain, seq, kind, "fromLedger", "toLedger",
        "amountMicros", "atMs", "projectId", "requestId", "windowStartMs", "rowHash")
      select budget, n.seq, 'charge', budget, 'revenue:' || n.action, n."amountMicros",
          n."nowMs", n."projectId", n."requestId", n."windowStartMs", n.hash
        from numbered n where n."amountMicros" > 0 order by n.place
      returning t."transferId", t.seq
  ), logged as (
    insert into calls ("atMs", "keyId", "projectId", "requestId", action, code, "latencyMs",
        "costMicros", "meteredMicros", "isReplay", "transferId", detail, outcome, similarity,
        "livenessScore", threshold, margin, quality, reason, "nearMiss")
      select n."atMs", n."keyId", n."projectId", n."loggedRequestId", n."loggedAction", n.code,
          n."latencyMs", n."amountMicros", n."meteredMicros", 0, charged."transferId", n.detail,
          n.outcome, n.similarity, n."livenessScore", n.threshold, n.margin, n.quality, n.reason,
          n."nearMiss"
        from numbered n left join charged on charged.seq = n.seq order by n.place
  )
  select n.index from numbered n;
end $$;
