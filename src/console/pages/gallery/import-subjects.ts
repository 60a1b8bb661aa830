import { z } from 'zod'
import { subjectLookup } from '../../../actions/parts/subject-lookup.ts'
import { displayName, expiresAtUtc, externalId, groups } from '../../../actions/schemas/fields.ts'
import { parseInput } from '../../../lib/validation/describe-issue.ts'
import { mapSequential } from '../../../lib/account-context.ts'
import { lockGallery } from '../../../store/gallery/galleries.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import type { Tx } from '../../../store/database.ts'
import { requireProject } from '../../server/require-project.ts'
import { id } from '../../server/input.ts'
import { defineWrite, type ConsoleContext } from '../../server/console-route.ts'
import { refusalOf } from './bulk-changes.ts'
import { subjectChangesMax } from './subject-ids.ts'

/** One row of an imported list. An absent field stays as it is. */
const importRow = z
  .strictObject({
    subjectId: id.optional(),
    externalId: externalId.optional(),
    displayName: displayName.optional(),
    groups: groups.optional().meta({ description: 'Replaces the groups of the subject.' }),
    attributes: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'A JSON merge patch.' }),
    expiresAtUtc: z.union([expiresAtUtc, z.literal('never')]).optional(),
  })
  .refine(
    (row) => row.subjectId !== undefined || row.externalId !== undefined,
    'must contain a subjectId or an externalId',
  )

type ImportRow = z.output<typeof importRow>

const importResult = z.object({
  line: z.int(),
  result: z.enum(['updated', 'unchanged', 'unknown', 'refused']),
  subjectId: z.string().optional(),
  message: z.string().optional(),
})

/**
 * Updates existing subjects from rows of a list, each found by its subjectId, else by its externalId.
 * A row that cannot be applied changes nothing and is reported. No row creates a subject: that needs
 * a picture.
 */
export const importSubjects = defineWrite({
  path: '/projects/:projectId/subjects/import',
  auditAction: 'subject.import',
  body: z.strictObject({
    rows: z
      .array(z.strictObject({ line: z.int().min(1), values: z.record(z.string(), z.unknown()) }))
      .min(1)
      .max(subjectChangesMax, `must be a list of 1 to ${subjectChangesMax} rows`),
  }),
  response: z.object({ items: z.array(importResult) }),
  handle: async (call, { tx }) => {
    const { galleryId, projectId } = await requireProject(tx, call)
    await lockGallery(tx, galleryId, 'exclusive')
    const items = await mapSequential(call.body.rows, async ({ line, values }) => ({
      line,
      ...(await importOneRow(tx, { galleryId, values, call })),
    }))
    const updated = items.flatMap((item) => (item.result === 'updated' ? [item.subjectId] : []))
    const detail = { rows: items.length, subjects: updated.length, subjectIds: updated }
    return { response: { items }, target: projectId, detail }
  },
})

type RowToImport = {
  readonly galleryId: string
  readonly values: Readonly<Record<string, unknown>>
  readonly call: ConsoleContext
}

async function importOneRow(
  tx: Tx,
  { galleryId, values, call }: RowToImport,
): Promise<Omit<z.input<typeof importResult>, 'line'>> {
  const parsed = parseInput(importRow, values, 'row')
  if (!parsed.success) {
    const problems = parsed.problems.map(
      ({ path, rule }) => `${path.replace(/^row\.?/u, '')} ${rule}`,
    )
    return { result: 'refused', message: problems.join('; ').trim() }
  }
  const { subjects } = call.services
  const { data } = parsed
  const row = await subjects.find(tx, galleryId, subjectLookup(data))
  if (!row) return { result: 'unknown' }
  const { subjectId } = row
  const [details] = await subjects.loadDetails(tx, [row])
  const changes = changesOf(row, details?.groups ?? [], data)
  if (Object.keys(changes).length === 0) return { result: 'unchanged', subjectId }
  const message = await refusalOf(tx, () => subjects.update(tx, row, changes))
  return message === undefined
    ? { result: 'updated', subjectId }
    : { result: 'refused', subjectId, message }
}

/** Returns the fields in which the row differs from the subject. */
function changesOf(row: SubjectRow, groupsBefore: readonly string[], data: ImportRow) {
  const { externalId: newId, displayName: newName, attributes, expiresAtUtc: expiry } = data
  const newExpiry = expiry === 'never' ? null : expiry
  const newGroups = data.groups && new Set(data.groups)
  const addGroups = [...(newGroups?.difference(new Set(groupsBefore)) ?? [])]
  const removeGroups = newGroups ? groupsBefore.filter((name) => !newGroups.has(name)) : []
  return {
    ...(newId !== undefined && newId !== row.externalId && { externalId: newId }),
    ...(newName !== undefined && newName !== row.displayName && { displayName: newName }),
    ...(addGroups.length > 0 && { addGroups }),
    ...(removeGroups.length > 0 && { removeGroups }),
    ...(attributes && isAttributeChange(row, attributes) && { attributes }),
    ...(newExpiry !== undefined && isOtherTime(newExpiry, row) && { expiresAtUtc: newExpiry }),
  }
}

function isOtherTime(expiry: string | null, { expiresAtUtc: current }: SubjectRow): boolean {
  if (expiry === null || current === null) return expiry !== current
  return Date.parse(expiry) !== Date.parse(current)
}

function isAttributeChange(row: SubjectRow, patch: Readonly<Record<string, unknown>>): boolean {
  const current = new Map(Object.entries(JSON.parse(row.attributes) as Record<string, unknown>))
  return Object.entries(patch).some(([name, value]) =>
    value === null
      ? current.has(name)
      : JSON.stringify(current.get(name)) !== JSON.stringify(value),
  )
}
