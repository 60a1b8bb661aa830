import { UsageError, type ValueKind } from '../command.ts'
import { defineCommand } from '../command-line/define-command.ts'
import { anyText, filePath, outputFile, share, wholeNumber } from '../command-line/value-kinds.ts'
import { serviceOptions } from '../context/commands.ts'
import { optional, required } from '../options.ts'

const pictureFile = required('<picture>', 'a JPEG or a PNG', filePath)

const drawnFile: ValueKind<string> = {
  ...outputFile,
  parse: (text) => {
    if (/\.(?:jpe?g|png)$/iu.test(text)) return outputFile.parse(text)
    throw new UsageError(`${text} is neither .jpg nor .png`)
  },
}

const callOptions = {
  ...serviceOptions,
  draw: optional('<file>', 'write the picture with the faces and results to a file', drawnFile),
}

const group = optional('<group>', 'only subjects of this group', anyText)
const threshold = optional('<0..1>', 'minimum similarity of a match', share)
const maxFaces = (most: number) =>
  optional('<n>', 'the most faces, largest first', wholeNumber(1, most))

/** The commands that send a picture to a running service. */
export const pictureCommands = [
  defineCommand({
    name: 'detect',
    summary: 'find the faces of a picture',
    arguments: { picture: pictureFile },
    options: { ...callOptions, 'max-faces': maxFaces(100) },
    description: 'Needs a running service and a key. The call is charged like svc.detect.',
    run: async (values) => (await import('./run-picture.ts')).runDetect(values),
  }),
  defineCommand({
    name: 'identify',
    summary: 'find the subjects in a picture',
    arguments: { picture: pictureFile },
    options: { ...callOptions, group, threshold, 'max-faces': maxFaces(20) },
    description:
      'Needs a running service and a key. The call is charged like svc.identify. Without --max-faces, the largest face is searched.',
    run: async (values) => (await import('./run-picture.ts')).runIdentify(values),
  }),
  defineCommand({
    name: 'verify',
    summary: 'compare a picture with another one, or with a subject',
    arguments: {
      picture: pictureFile,
      other: optional('<picture>', 'the picture to compare with', filePath),
    },
    options: {
      ...callOptions,
      subject: optional('<subjectId>', 'compare with this subject', anyText),
      'external-id': optional('<id>', 'compare with the subject with this external id', anyText),
      threshold,
    },
    description:
      'Needs a running service and a key. The call is charged like svc.verify. Exactly one of a second picture, --subject and --external-id is required.',
    run: async (values) => (await import('./run-picture.ts')).runVerify(values),
  }),
]
