import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, outputFile, wholeNumber } from '../command-line/value-kinds.ts'
import { optional, required, requiredProject, withDefault } from '../options.ts'

/** The most subjects of one output. */
const limitMax = 10_000

const options = { project: requiredProject }
const subject = required('<subject>', 'subjectId or externalId of the subject', anyText)

export const subjectCommands = defineGroup(
  {
    name: 'subject',
    summary: 'list, show, export and delete subjects',
    description:
      'These commands read and change the database directly, also while servers run. A subject is given by its subjectId or its externalId.',
  },
  [
    defineCommand(
      {
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
        examples: [
          'facegate subject list --project door',
          'facegate subject list --project door --text muller',
        ],
      },
      async (values) => (await import('./read-subjects.ts')).list(values),
    ),
    defineCommand(
      {
        name: 'show',
        summary: 'show what is stored about a subject, without templates and crops',
        arguments: { subject },
        options,
        examples: ['facegate subject show badge-1042 --project door'],
      },
      async (values) => (await import('./read-subjects.ts')).show(values),
    ),
    defineCommand(
      {
        name: 'export',
        summary: 'write all data of a subject to a file, for a request for access',
        arguments: { subject },
        options: {
          ...options,
          out: required('<file>', 'the new JSON file; only you can read it', outputFile),
        },
        description:
          'The file contains ids, names, groups, attributes, times, the faces with their quality and models, and the stored crops as JPEG in base64. Templates are left out: faces can be reconstructed from them. The export is recorded in the audit log. See docs/gdpr.md.',
        examples: ['facegate subject export badge-1042 --project door --out badge-1042.json'],
      },
      async (values) => (await import('./export-subject.ts')).exportSubject(values),
    ),
    defineCommand(
      {
        name: 'delete',
        summary: 'delete a subject with all its data; this cannot be undone',
        arguments: { subject },
        options,
        examples: ['facegate subject delete badge-1042 --project door'],
      },
      async (values) => (await import('./remove-subject.ts')).remove(values),
    ),
  ],
)
