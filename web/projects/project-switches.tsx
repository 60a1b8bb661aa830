import { Stack, Switch } from '@mantine/core'
import type { ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'

type SwitchName = keyof ConsoleProject['switches']

/** What each switch means to the people in the pictures. */
const switchTexts: Readonly<Record<SwitchName, readonly [label: string, description: string]>> = {
  gender: [
    'Gender',
    'svc.attributes and svc.analyze tell a gender: a guess from looks, sometimes wrong.',
  ],
  expression: [
    'Expression',
    'They name an expression. Restricted by law in some places, such as at work in the EU.',
  ],
  storeCrops: [
    'Store crops',
    'Keeps an encrypted cut-out of each face that is enrolled from now on, so that a later model can make new templates. Off: no picture is kept, and those that were are deleted.',
  ],
  adopt: [
    'Adopt on verify',
    'svc.verify may add the face to a subject that only a former model knows.',
  ],
}

const switchNames = Object.keys(switchTexts) as readonly SwitchName[]

/** What a project may do beyond the plain service. */
export function ProjectSwitches({ project }: { readonly project: ConsoleProject }) {
  const mayWrite = useHasRole('admin')
  const save = useApiMutation({ method: 'PATCH', path: '/projects/:projectId' })
  return (
    <Stack>
      {switchNames.map((name) => {
        const [label, description] = switchTexts[name]
        return (
          <Switch
            key={name}
            label={label}
            description={description}
            disabled={!mayWrite || save.isPending}
            checked={project.switches[name]}
            onChange={(event) =>
              save.mutate({
                pathParams: { projectId: project.projectId },
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
