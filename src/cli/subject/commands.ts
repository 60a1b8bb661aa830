import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, outputFile, wholeNumber } from '../command-line/value-kinds.ts'
import { flag, optional, required, requiredProject, withDefault } from '../options.ts'

/** The most subjects of one output. */
const limitMax = 10_000

const options = { project: requiredProject }
const subjectKind = (summary: string) => required('<subject>', anyText, summary)
const subject = subjectKind('subjectId or externalId of the subject')

export const subjectCommands = defineGroup({
  path: 'subject',
  commands: [
    defineCommand({
      path: 'subject list',
      options: {
        ...options,
        group: optional('<group>', anyText),
        text: optional('<text>', anyText),
        limit: withDefault('<n>', {
          ...wholeNumber(1, limitMax),
          default: '50',
        }),
      },
      run: async (values) => (await import('./subjects.ts')).list(values),
    }),
    defineCommand({
      path: 'subject show',
      arguments: { subject },
      options,
      run: async (values) => (await import('./subjects.ts')).show(values),
    }),
    defineCommand({
      path: 'subject export',
      arguments: { subject },
      options: {
        ...options,
        out: required('<file>', outputFile),
      },
      run: async (values) => (await import('./subjects.ts')).exportSubject(values),
    }),
    defineCommand({
      path: 'subject delete',
      arguments: { subject },
      options,
      run: async (values) => (await import('./subjects.ts')).remove(values),
    }),
    defineCommand({
      path: 'subject merge',
      arguments: { subject: subjectKind('the subject that ends') },
      options: { ...options, into: subjectKind('the subject that remains') },
      run: async (values) => (await import('./subjects.ts')).merge(values),
    }),
    defineCommand({
      path: 'subject merges',
      options,
      run: async (values) => (await import('./subjects.ts')).listMerges(values),
    }),
    defineCommand({
      path: 'subject unmerge',
      arguments: {
        mergeId: required('<merge>', anyText),
      },
      options,
      run: async (values) => (await import('./subjects.ts')).unmerge(values),
    }),
    defineCommand({
      path: 'subject distinct',
      arguments: { subject, other: subjectKind('the other subject') },
      options: { ...options, undo: flag() },
      run: async (values) => (await import('./subjects.ts')).setDistinct(values),
    }),
  ],
})
