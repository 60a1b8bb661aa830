-- The queries of the audit rules, by their names. A query returns one line of text for each row that
-- breaks the rule. `ledger-audit.ts` replaces the names after colons. Amounts are summed in two parts,
-- billions and the rest: SQLite refuses a sum beyond 64 bits, and large amounts can exceed it.

-- unbalanced
select ledger || ' has the balance ' || "balanceMicros" || ', but its postings sum to '
  || coalesce("billions" * 1000000000 + "rest", 0) as line
from ledgers left join (
  select ledger, sum("amountMicros" / 1000000000) as "billions", sum("amountMicros" % 1000000000) as "rest"
  from "ledgerPostings" group by ledger) as postings using (ledger)
where ("balanceMicros" / 1000000000 - coalesce("billions", 0)) * 1000000000
  <> coalesce("rest", 0) - "balanceMicros" % 1000000000 limit :violationsMax

-- misbilled
select 'transfer ' || t."transferId" || ' charges ' || t."amountMicros" || ' for request '
  || t."requestId" || ', but the log has ' || c."costMicros" || ' for ' || c."requestId" as line
from calls c join "ledgerTransfers" t using ("transferId")
where t.kind <> 'charge' or t."amountMicros" <> c."costMicros" or t."projectId" <> c."projectId"
  or t."requestId" <> lower(c."requestId")
union all
select 'request ' || "requestId" || ' was charged ' || count(*) || ' times' from "ledgerTransfers"
where kind = 'charge' group by "projectId", "requestId", "windowStartMs" having count(*) > 1
limit :violationsMax

-- negative
select ledger || ' has the balance ' || "balanceMicros" || ', of which ' || "reservedMicros"
  || ' is reserved' as line
from ledgers
where "balanceMicros" < 0 or "reservedMicros" < 0 or "balanceMicros" < "reservedMicros"
limit :violationsMax

-- misreserved
select ledger || ' has ' || "reservedMicros" || ' reserved, but its running calls need '
  || coalesce("neededMicros", 0) as line
from ledgers left join (
  select 'budget:' || "projectId" as ledger, sum("reservedMicros") as "neededMicros"
  from attempts where state = 'running' group by "projectId") as reserved using (ledger)
where "reservedMicros" <> coalesce("neededMicros", 0) limit :violationsMax

-- overdue
select 'request ' || "requestId" || ' was due '
  || (cast(:nowMs as bigint) - "deadlineMs") || ' ms ago' as line
from attempts
where state = 'running' and "deadlineMs" < cast(:nowMs as bigint) - 30000 limit :violationsMax

-- unaccounted
select 'account ' || "accountId" || ' has ' || (balances."billions" * 1000000000 + balances."rest")
  || ' in its ledgers, but its payments minus its charges are '
  || (net."billions" * 1000000000 + net."rest") as line
from (
  select "accountId", sum("balanceMicros" / 1000000000) as "billions",
    sum("balanceMicros" % 1000000000) as "rest"
  from ledgers group by "accountId") as balances
join (
  select "accountId", sum(sign * ("amountMicros" / 1000000000)) as "billions",
    sum(sign * ("amountMicros" % 1000000000)) as "rest"
  from ledgers join (
    select chain, "amountMicros", case kind when 'topUp' then 1 when 'charge' then -1 else 0 end as sign
    from "ledgerTransfers") as signed on chain = ledger group by "accountId") as net
  using ("accountId")
where (balances."billions" - net."billions") * 1000000000 <> net."rest" - balances."rest"
limit :violationsMax

-- misrouted
select 'transfer ' || "transferId" || ' is from ' || "fromLedger" || ' to ' || "toLedger" as line
from "ledgerTransfers" where not case kind
  when 'topUp' then "fromLedger" = 'external' and "toLedger" = chain and chain like 'wallet:%'
  when 'charge' then "fromLedger" = chain and chain = 'budget:' || "projectId"
    and "toLedger" like 'revenue:%'
  else chain like 'wallet:%' and 'budget:' || "projectId" in ("fromLedger", "toLedger")
    and chain in ("fromLedger", "toLedger") end
limit :violationsMax

-- mutable
select 'the trigger ' || name || ' is missing' as line
from (select t || '_no_' || change as name, t as "tableName"
  from (select 'ledgerTransfers' as t union select 'deletions' union select 'auditLog') as tables
  cross join (select 'update' as change union select 'delete') as changes) as wanted
where not exists (select 1 from (:immutabilityTriggers) as found
  where found.name = wanted.name and found."tableName" = wanted."tableName")
order by name

-- fractional
select place || ' has an amount of type ' || type as line
from (:fractionalAmounts) as found limit :violationsMax

-- incomplete
select 'subject ' || "subjectId" || ' has no template' as line from subjects
where "withoutFaces" = 0
  and not exists (select 1 from faces where faces."subjectId" = subjects."subjectId")
union all
select 'face ' || "faceId" || ' has no template' from faces
where not exists (select 1 from templates where templates."faceId" = faces."faceId")
union all
select 'subject ' || "subjectId" || ' has a deletion record, but still exists'
from subjects join deletions using ("subjectId") where "mergedInto" is null
union all
select 'gallery ' || "galleryId" || ' has the counts ' || "subjectCount" || ' subjects and '
  || "templateCount" || ' templates, which differ from its rows'
from galleries g
where "subjectCount" <> (select count(*) from subjects s where s."galleryId" = g."galleryId")
  or "templateCount" <> (select count(*) from faces f where f."galleryId" = g."galleryId")
limit :violationsMax

-- unlogged
select 'transfer ' || t."transferId" || ' for request ' || t."requestId" || ' has no log row' as line
from "ledgerTransfers" t left join calls c using ("transferId")
where kind = 'charge' and "windowStartMs" >= :sweepMarginMs
  + coalesce((select "valueMs" from watermarks where name = 'callsSweptBefore'), 0) and c."callId" is null
union all
select 'call ' || "callId" || ' was billed by transfer ' || "transferId" || ', which is missing'
from calls c where "transferId" is not null
  and not exists (select 1 from "ledgerTransfers" t where t."transferId" = c."transferId")
limit :violationsMax
