/** Returns triggers that prevent changes of the rows of a table. */
export function appendOnly(table: string): readonly string[] {
  return ['update', 'delete'].map(
    (change) => `create trigger ${table}_no_${change} before ${change} on ${table}
      begin select raise(abort, '${table} is append-only'); end`,
  )
}
