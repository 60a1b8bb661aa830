import type { AuditCheck } from '../billing/audit-ledger.ts'

/**
 * Prints one line on standard error for each broken rule of the ledger audit. A violation must not
 * prevent a restore or a migration: the data would be lost, and the violation is in the original too.
 *
 * @returns the broken rules.
 */
export function warnOfViolations(database: string, checks: readonly AuditCheck[]) {
  const broken = checks.filter(({ ok }) => !ok)
  for (const { name, detail } of broken)
    console.error(`facegate: warning: ${database} violates ${name}: ${detail}`)
  return broken
}
