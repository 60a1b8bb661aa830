import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, outputFile, wholeNumber } from '../command-line/value-kinds.ts'
import { flag, optional, required, requiredProject, withDefault } from '../options.ts'

/** The most subjects of one output. */
const limitMax = 10_000

const options = { project: requiredProject }
const subjectKind = (summary: string) => required('<subject>', summary, anyText)
const subject = subjectKind('subjectId or externalId of the subject')

export const subjectCommands = defineGroup({
  name: 'subject',
  summary: 'list, show, export, merge and delete subjects',
  description:
    'These commands read and change the database directly, also while servers run. A subject is given by its subjectId or its externalId.',
  commands: [
    defineCommand({
      name: 'list',
      summary: 'list the subjects of a gallery in the order of enrollment',
      options: {
        ...options,
        group: optional('<group>', 'only subjects of this group', anyText),
        text: optional(
          '<text>',
          'only subjects with this part of the display name or the external id; case and accents are ignored',
          anyText,
        ),
        limit: withDefault('<n>', 'number of subjects', {
          ...wholeNumber(1, limitMax),
          default: '50',
        }),
      },
      run: async (values) => (await import('./subjects.ts')).list(values),
    }),
    defineCommand({
      name: 'show',
      summary: 'show what is stored about a subject, without templates and crops',
      arguments: { subject },
      options,
      run: async (values) => (await import('./subjects.ts')).show(values),
    }),
    defineCommand({
      name: 'export',
      summary: 'write all data of a subject to a file, for a request for access',
      arguments: { subject },
      options: {
        ...options,
        out: required('<file>', 'the new JSON file; only you can read it', outputFile),
      },
      description:
        'The file contains ids, names, groups, attributes, times, the faces with their quality and models, and the stored crops as JPEG in base64. Templates are left out: faces can be reconstructed from them. The export is recorded in the audit log. See docs/gdpr.md.',
      run: async (values) => (await import('./subjects.ts')).exportSubject(values),
    }),
    defineCommand({
      name: 'delete',
      summary: 'delete a subject with all its data; this cannot be undone',
      arguments: { subject },
      options,
      run: async (values) => (await import('./subjects.ts')).remove(values),
    }),
    defineCommand({
      name: 'merge',
      summary: 'move all faces and groups of a subject to another one, and delete the first',
      arguments: { subject: subjectKind('the subject that ends') },
      options: { ...options, into: subjectKind('the subject that remains') },
      description:
        'The remaining subject keeps its ids, name, attributes and expiry. The merge can be undone for 30 days.',
      run: async (values) => (await import('./subjects.ts')).merge(values),
    }),
    defineCommand({
      name: 'merges',
      summary: 'list the merges that can be undone, the newest first',
      options,
      run: async (values) => (await import('./subjects.ts')).listMerges(values),
    }),
    defineCommand({
      name: 'unmerge',
      summary: 'undo a merge; the merged subject exists again, with a new id',
      arguments: {
        mergeId: required('<merge>', 'mergeId of facegate subject merges', anyText),
      },
      options,
      run: async (values) => (await import('./subjects.ts')).unmerge(values),
    }),
    defineCommand({
      name: 'distinct',
      summary: 'mark two similar subjects as different people',
      arguments: { subject, other: subjectKind('the other subject') },
      options: { ...options, undo: flag('remove the mark') },
      description: 'facegate gallery check no longer reports the two as a duplicate.',
      run: async (values) => (await import('./subjects.ts')).setDistinct(values),
    }),
  ],
})
