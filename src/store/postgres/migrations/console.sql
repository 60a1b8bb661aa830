create function "storeChainHead"() returns trigger language plpgsql as $$ begin
  insert into "chainHeads" as head
    values (tg_table_name, new."accountId", 1, new."rowHash")
    on conflict (chain, "accountId")
    do update set "headSeq" = head."headSeq" + 1, "headHash" = excluded."headHash";
  return null;
end $$

create trigger "deletions_head" after insert on "deletions"
  for each row execute function "storeChainHead"()

create trigger "auditLog_head" after insert on "auditLog"
  for each row execute function "storeChainHead"()
