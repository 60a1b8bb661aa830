create function "resetBudgetLimits"() returns trigger language plpgsql as $$ begin
  new."lowAtMicros" := new."balanceMicros" / 5;
  new."exhaustedAtMicros" := 0;
  return new;
end $$

create trigger budget_limits_reset before update of "balanceMicros" on ledgers for each row
  when (new."balanceMicros" > old."balanceMicros" and new.ledger like 'budget:%')
  execute function "resetBudgetLimits"()

create function "addBudgetEvent"() returns trigger language plpgsql as $$
  declare
    "eventType" text := tg_argv[0];
    "newEventId" text := 'evt_' || replace(gen_random_uuid()::text, '-', '');
    "limitMicros" bigint;
    "nowMs" bigint := floor(extract(epoch from clock_timestamp()) * 1000)::bigint;
  begin
    if "eventType" = 'budget.low' then
      "limitMicros" := new."lowAtMicros";
      new."lowAtMicros" := null;
    else
      "limitMicros" := new."exhaustedAtMicros";
      new."exhaustedAtMicros" := null;
    end if;
    insert into "webhookDeliveries" ("eventId", "webhookId", "projectId", type, data, "createdAtMs",
        "queuedAtMs")
      select "newEventId", w."webhookId", w."projectId", "eventType",
        json_build_object('balanceMicros', new."balanceMicros"::text,
          'thresholdMicros', "limitMicros"::text)::text,
        "nowMs", "nowMs"
      from webhooks w
      where w."projectId" = substr(new.ledger, 8) and w.events like '%"' || "eventType" || '"%';
    return new;
  end $$

create trigger budget_low before update of "balanceMicros" on ledgers for each row
  when (new."balanceMicros" <= new."lowAtMicros" and new."balanceMicros" < old."balanceMicros")
  execute function "addBudgetEvent"('budget.low')

create trigger budget_exhausted
  before update of "balanceMicros", "exhaustedAtMicros" on ledgers for each row
  when (new."balanceMicros" <= new."exhaustedAtMicros"
    and new."balanceMicros" <= old."balanceMicros")
  execute function "addBudgetEvent"('budget.exhausted')
