/**
 * Permits only plans that use the indexes for the statements of a function. A session plans each
 * statement once, on a new database when its tables are still empty. It would then read whole tables
 * later.
 */
export function indexPlans(signature: string): readonly string[] {
  return ['seqscan', 'hashjoin', 'mergejoin'].map(
    (plan) => `alter function ${signature} set enable_${plan} = off`,
  )
}
