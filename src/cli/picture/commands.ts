import { defineCommand } from '../command-line/define-command.ts'
import {
  anyText,
  filePath,
  pictureOutput,
  share,
  wholeNumber,
} from '../command-line/value-kinds.ts'
import { serviceOptions } from '../context/commands.ts'
import { optional, required } from '../options.ts'

const pictureFile = required('<picture>', filePath, 'a JPEG or a PNG')

const callOptions = {
  ...serviceOptions,
  draw: optional(
    '<file>',
    pictureOutput('.jpg', '.jpeg', '.png'),
    'write the picture with the faces and results to a file',
  ),
}

const group = optional('<group>', anyText, 'only subjects of this group')
const threshold = optional('<0..1>', share, 'minimum similarity of a match')
const maxFaces = (most: number) =>
  optional('<n>', wholeNumber(1, most), 'the most faces, largest first')

/** The commands that send a picture to a running service. */
export const pictureCommands = [
  defineCommand('detect', {
    arguments: { picture: pictureFile },
    options: { ...callOptions, 'max-faces': maxFaces(100) },
    run: async (values) => (await import('./run-picture.ts')).runDetect(values),
  }),
  defineCommand('identify', {
    arguments: { picture: pictureFile },
    options: { ...callOptions, group, threshold, 'max-faces': maxFaces(20) },
    run: async (values) => (await import('./run-picture.ts')).runIdentify(values),
  }),
  defineCommand('verify', {
    arguments: {
      picture: pictureFile,
      other: optional('<picture>', filePath),
    },
    options: {
      ...callOptions,
      subject: optional('<subjectId>', anyText),
      'external-id': optional('<id>', anyText),
      threshold,
    },
    run: async (values) => (await import('./run-picture.ts')).runVerify(values),
  }),
]
