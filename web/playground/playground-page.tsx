import { Select, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { ActionInfo, PlaygroundSettings } from '../api/responses.ts'
import { Page } from '../layout/page.tsx'
import { ProjectScope } from '../projects/project-scope.tsx'
import type { FormEntries } from './form/parse-params.ts'
import type { PlaygroundImage } from './images/playground-image.ts'
import { ActionRunner } from './action-runner.tsx'
import { WithCallData } from './call-data.tsx'
import type { PlaygroundRun } from './run.ts'

const route = getRouteApi('/playground')

/** Runs any action on the user's images. */
export function PlaygroundPage() {
  return (
    <Page
      title="Playground"
      description="Run any action on your own images. Calls are rate-limited, billed and logged like API calls."
    >
      <ProjectScope>
        {(projectId) => (
          <WithCallData>{(data) => <ActionPicker projectId={projectId} {...data} />}</WithCallData>
        )}
      </ProjectScope>
    </Page>
  )
}

type Props = {
  readonly actions: readonly ActionInfo[]
  readonly projectId: string
  readonly settings: PlaygroundSettings
}

function ActionPicker({ actions, projectId, settings }: Props) {
  const { action: name = 'svc.detect' } = route.useSearch()
  const navigate = route.useNavigate()
  // Values and images are kept for the next action, such as to enroll and then identify an image.
  const [entries, setEntries] = useState<FormEntries>({})
  const [images, setImages] = useState<readonly PlaygroundImage[]>([])
  const [run, setRun] = useState<PlaygroundRun>()
  const action = actions.find((item) => item.name === name) ?? actions[0]
  if (!action) return null
  return (
    <>
      <Select
        label="Action"
        maw={360}
        data={actions.map((item) => item.name)}
        value={action.name}
        allowDeselect={false}
        onChange={(value) => {
          setRun(undefined)
          void navigate({ search: (old) => ({ ...old, action: value ?? undefined }) })
        }}
      />
      <Text c="dimmed" size="sm" mt={-8}>
        {action.summary}
      </Text>
      <ActionRunner
        key={action.name}
        action={action}
        projectId={projectId}
        settings={settings}
        run={run}
        onRunChange={setRun}
        entries={entries}
        images={images}
        onEntriesChange={setEntries}
        onImagesChange={setImages}
      />
    </>
  )
}
