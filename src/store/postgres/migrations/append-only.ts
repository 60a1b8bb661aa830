/** The function of the triggers below. */
export const rejectChange = `
  create function "rejectChange"() returns trigger language plpgsql as $$ begin
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end $$`

/** Returns triggers that prevent changes of the rows of a table. */
export function appendOnly(table: string): readonly string[] {
  return [
    `create trigger "${table}_no_update" before update on "${table}"
      for each row execute function "rejectChange"()`,
    `create trigger "${table}_no_delete" before delete on "${table}"
      for each row execute function "rejectChange"()`,
    `create trigger "${table}_no_truncate" before truncate on "${table}"
      for each statement execute function "rejectChange"()`,
  ]
}
