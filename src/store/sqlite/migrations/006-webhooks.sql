-- Webhooks, their signing secrets and the outbox of their events. Triggers add the events of budgets,
-- so that a call without a crossing of a limit runs no further statement.

create table webhooks (
  webhookId text primary key, projectId text not null references projects on delete cascade,
  url text not null, events text not null,
  matchFilter text not null default '{}', createdAtUtc text not null,
  failures integer not null default 0 check (failures >= 0), failingSinceMs integer,
  pausedUntilMs integer not null default 0, lastEventId text,
  discarded integer not null default 0 check (discarded >= 0)
) strict, without rowid

create index webhooks_of_project on webhooks (projectId, createdAtUtc)

create table webhookSecrets (
  secretId text primary key, webhookId text not null references webhooks on delete cascade,
  masterKeyId text not null, wrapped blob not null,
  createdAtMs integer not null, expiresAtMs integer
) strict, without rowid

create index secrets_of_webhook on webhookSecrets (webhookId, createdAtMs)

create table webhookDeliveries (
  eventId text not null, webhookId text not null references webhooks on delete cascade,
  projectId text not null, type text not null, data text not null,
  createdAtMs integer not null, queuedAtMs integer not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0, dueAtMs integer not null default 0,
  attemptedAtMs integer, status integer, error text,
  primary key (eventId, webhookId)
) strict

create index deliveries_pending on webhookDeliveries (webhookId, dueAtMs)
  where state = 'pending'

-- Each list of deliveries is merged from the lists of its states.
create index deliveries_by_state on webhookDeliveries (webhookId, state, createdAtMs, eventId)

create index deliveries_by_type on webhookDeliveries (webhookId, type, state, createdAtMs, eventId)

create index deliveries_by_age on webhookDeliveries (state, queuedAtMs)

create trigger budget_limits_reset after update of balanceMicros on ledgers
  when new.balanceMicros > old.balanceMicros and new.ledger like 'budget:%' begin
  update ledgers set lowAtMicros = new.balanceMicros / 5, exhaustedAtMicros = 0
    where ledger = new.ledger;
end

-- The scalar subquery is evaluated once, so that all webhooks receive the same event id.
create trigger budget_low after update of balanceMicros on ledgers
  when new.balanceMicros <= new.lowAtMicros and new.balanceMicros < old.balanceMicros begin
  update ledgers set lowAtMicros = null where ledger = new.ledger;
    insert into webhookDeliveries (eventId, webhookId, projectId, type, data, createdAtMs,
        queuedAtMs)
      select (select 'evt_' || lower(hex(randomblob(16)))), webhookId, projectId, 'budget.low',
        json_object('balanceMicros', cast(new.balanceMicros as text),
          'thresholdMicros', cast(new.lowAtMicros as text)),
        cast(unixepoch('subsec') * 1000 as integer), cast(unixepoch('subsec') * 1000 as integer)
      from webhooks
      where projectId = substr(new.ledger, 8) and events like '%"budget.low"%';
end

create trigger budget_exhausted after update of balanceMicros, exhaustedAtMicros on ledgers
  when new.balanceMicros <= new.exhaustedAtMicros and new.balanceMicros <= old.balanceMicros begin
  update ledgers set exhaustedAtMicros = null where ledger = new.ledger;
    insert into webhookDeliveries (eventId, webhookId, projectId, type, data, createdAtMs,
        queuedAtMs)
      select (select 'evt_' || lower(hex(randomblob(16)))), webhookId, projectId, 'budget.exhausted',
        json_object('balanceMicros', cast(new.balanceMicros as text),
          'thresholdMicros', cast(new.exhaustedAtMicros as text)),
        cast(unixepoch('subsec') * 1000 as integer), cast(unixepoch('subsec') * 1000 as integer)
      from webhooks
      where projectId = substr(new.ledger, 8) and events like '%"budget.exhausted"%';
end
