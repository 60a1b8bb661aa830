/** The function of the triggers below. */
export const rejectChange = `
  create function "rejectChange"() returns trigger language plpgsql as $$ begin
    raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
  end $$`

/** Returns triggers that prevent changes of the rows of a table. */
export function appendOnly(table: string): readonly string[] {
  const units = { update: 'row', delete: 'row', truncate: 'statement' }
  return Object.entries(units).map(
    ([change, unit]) => `create trigger "${table}_no_${change}" before ${change} on "${table}"
      for each ${unit} execute function "rejectChange"()`,
  )
}
