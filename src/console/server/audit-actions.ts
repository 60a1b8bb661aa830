import table from './audit-actions.json' with { type: 'json' }

/**
 * Every audit action in plain words, grouped by its object. The audit log stores the name of an
 * action; pages and lists show its description.
 */
export const auditActions: Readonly<Record<string, string>> = table

/** Describes an audit action. One of another version becomes the words of its name. */
export function describeAuditAction(auditAction: string): string {
  const known = auditActions[auditAction]
  if (known !== undefined) return known
  const words = auditAction
    .replaceAll('.', ': ')
    .replaceAll(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
