import { shortIdOf } from '../../format/subject-name.ts'
import type { ConsoleTransfer } from '../../api/responses.ts'

type Kind = ConsoleTransfer['kind']

/** The kinds of transfers in words. */
export const transferKinds = [
  { value: 'topUp', label: 'top-up' },
  { value: 'allocate', label: 'allocation' },
  { value: 'charge', label: 'charge' },
] as const satisfies readonly { readonly value: Kind; readonly label: string }[]

export function transferKindText(kind: Kind): string {
  return transferKinds.find(({ value }) => value === kind)?.label ?? kind
}

/**
 * Returns the name of one side of a transfer, such as `Budget of Front door` or `Charges of svc.detect`.
 *
 * @param projectName the project of the transfer, whose budget is one of its sides.
 */
export function ledgerText(ledger: string, projectName: string | null): string {
  const [kind = '', of = ''] = ledger.split(':')
  if (kind === 'external') return 'Payments'
  if (kind === 'wallet') return 'Wallet'
  if (kind === 'revenue') return `Charges of ${of}`
  return kind === 'budget' ? `Budget of ${projectName ?? shortIdOf(of)}` : ledger
}
