import { Stack, Switch } from '@mantine/core'
import type { ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'

type SwitchName = keyof ConsoleProject['switches']

/** The label and the effect of each switch. */
const switchTexts: Readonly<Record<SwitchName, readonly [label: string, description: string]>> = {
  gender: [
    'Gender',
    'svc.attributes and svc.analyze return a gender, estimated from the image and sometimes wrong.',
  ],
  expression: [
    'Expression',
    'svc.attributes and svc.analyze return an expression. Restricted by law in some places, such as at work in the EU.',
  ],
  storeCrops: [
    'Store crops',
    'Stores an encrypted crop of each newly enrolled face, so that a later model can create new templates. Off: stored crops are deleted.',
  ],
  adopt: [
    'Enroll on verify',
    'svc.verify can add the face to a subject whose templates are all from the previous model.',
  ],
  billing: [
    'Billing',
    'Charges calls to the budget, and rejects them when it is exhausted. Off: calls are metered in the request log and never rejected for a budget.',
  ],
}

const switchNames = Object.keys(switchTexts) as readonly SwitchName[]

/** The optional features of a project. */
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
      <ErrorNotice title="Couldn't save setting" error={save.error} />
    </Stack>
  )
}
