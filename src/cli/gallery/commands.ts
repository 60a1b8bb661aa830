import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { requiredProject } from '../options.ts'

export const gallery = defineGroup({
  name: 'gallery',
  summary: 'check the pictures of a gallery',
  commands: [
    defineCommand({
      name: 'check',
      summary: 'find wrong, harmful and missing pictures, look-alikes and duplicates',
      options: { project: requiredProject },
      description:
        'The command compares each picture with the other pictures of its subject and with all other subjects. It changes nothing and works while the server runs.',
      examples: [
        'facegate gallery check --project door',
        'facegate gallery check --project door --json',
      ],
      run: async (values) => (await import('./check.ts')).checkProject(values),
    }),
  ],
})
