import { Stack, Switch, Text } from '@mantine/core'
import type { Project } from '../api/answers.ts'
import { useMay } from '../api/session.ts'
import { useSend } from '../api/use-api.ts'
import { ErrorNotice } from '../parts/error-notice.tsx'

/** What each switch means to the people in the pictures. An unknown one shows its bare name. */
const meanings: Readonly<Record<string, readonly [string, string]>> = {
  genderEnabled: ['Gender', 'svc.attributes may guess a gender. A guess from looks, often wrong.'],
  expressionEnabled: [
    'Expression',
    'svc.attributes may name an expression. Restricted by law in some places, such as at work in the EU.',
  ],
  storeCrops: [
    'Store crops',
    'Keeps an aligned cut-out of each enrolled face, so that a later model can make new templates. Off: no picture is kept.',
  ],
}

/** What a project may do beyond the plain service. All are off until somebody decides. */
export function Switches({ project }: { readonly project: Project }) {
  const mayWrite = useMay('admin')
  const save = useSend({ method: 'PATCH', path: '/projects/:projectId' })
  const names = Object.keys(project.switches)
  if (names.length === 0)
    return (
      <Text size="sm" c="dimmed">
        This build has no features that need a decision.
      </Text>
    )
  return (
    <Stack>
      {names.map((name) => {
        const [label, description] = meanings[name] ?? [name, '']
        return (
          <Switch
            key={name}
            label={label}
            description={description}
            disabled={!mayWrite || save.isPending}
            checked={project.switches[name] ?? false}
            onChange={(event) =>
              save.mutate({
                parts: { projectId: project.projectId },
                body: { switches: { [name]: event.currentTarget.checked } },
              })
            }
          />
        )
      })}
      <ErrorNotice error={save.error} />
    </Stack>
  )
}
