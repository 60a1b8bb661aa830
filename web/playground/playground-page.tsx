import { Select, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { ActionInfo } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { Page } from '../layout/page.tsx'
import { ProjectScope } from '../components/project-scope.tsx'
import type { FormEntries } from './parse-params.ts'
import type { PlaygroundImage } from './playground-image.ts'
import { ActionRunner } from './action-runner.tsx'

const route = getRouteApi('/playground')

/** Every action on pictures of one's own, as a program would call it. */
export function PlaygroundPage() {
  const actions = useApiQuery('/actions')
  return (
    <Page
      title="Playground"
      description="Try any action on your own pictures. Each call goes through the same gate as a program’s: it is limited, billed and logged."
    >
      <ProjectScope>
        {(projectId) => (
          <QueryContent query={actions}>
            {(known) => <ActionPicker actions={known} projectId={projectId} />}
          </QueryContent>
        )}
      </ProjectScope>
    </Page>
  )
}

type Props = { readonly actions: readonly ActionInfo[]; readonly projectId: string }

function ActionPicker({ actions, projectId }: Props) {
  const { action: name = 'svc.detect' } = route.useSearch()
  const navigate = route.useNavigate()
  // Kept from action to action: one enrolls and then identifies the same picture.
  const [entries, setEntries] = useState<FormEntries>({})
  const [pictures, setPictures] = useState<readonly PlaygroundImage[]>([])
  const action = actions.find((known) => known.name === name) ?? actions[0]
  if (!action) return null
  return (
    <>
      <Select
        label="Action"
        maw={360}
        data={actions.map((known) => known.name)}
        value={action.name}
        allowDeselect={false}
        onChange={(value) =>
          void navigate({ search: (old) => ({ ...old, action: value ?? undefined }) })
        }
      />
      <Text c="dimmed" size="sm" mt={-8}>
        {action.summary}
      </Text>
      <ActionRunner
        key={action.name}
        action={action}
        projectId={projectId}
        entries={entries}
        images={pictures}
        onEntriesChange={setEntries}
        onImagesChange={setPictures}
      />
    </>
  )
}
