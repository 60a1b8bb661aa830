-- A new project gets a bucket at once, so that two simultaneous first calls can lock its row.
create function "addBucket"() returns trigger language plpgsql as $$ begin
  insert into buckets ("projectId", "fullAtUs") values (new."projectId", 0);
  return null;
end $$

create trigger projects_add_bucket after insert on projects
  for each row when (new."deletedAtUtc" is null) execute function "addBucket"()

create table calls_rest partition of calls default

create unique index one_call_per_charge on calls ("transferId", "atMs")
  where "transferId" is not null

create function "addLatencies"(a integer[], b integer[]) returns integer[]
  language plpgsql immutable strict parallel safe as $$ begin
  for at in 1..80 loop a[at] := a[at] + b[at]; end loop;
  return a;
end $$

create aggregate "sumLatencies"(integer[]) (
  sfunc = "addLatencies", stype = integer[], initcond = '{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}',
  combinefunc = "addLatencies", parallel = safe
)
