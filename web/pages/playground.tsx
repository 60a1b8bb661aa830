import { Select, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { ActionFacts } from '../api/answers.ts'
import { useAnswer } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { Page } from '../parts/page.tsx'
import { InProject } from '../parts/in-project.tsx'
import type { Entries } from '../playground/params.ts'
import type { Picture } from '../playground/picture.ts'
import { Workbench } from '../playground/workbench.tsx'

const route = getRouteApi('/playground')

/** Every action on pictures of one's own, as a program would call it. */
export function PlaygroundPage() {
  const actions = useAnswer('/actions')
  return (
    <Page
      title="Playground"
      lead="Try any action on your own pictures. Each call goes through the same gate as a program’s: it is limited, billed and logged."
    >
      <InProject>
        {(projectId) => (
          <Answered asked={actions}>
            {(known) => <Chooser actions={known} projectId={projectId} />}
          </Answered>
        )}
      </InProject>
    </Page>
  )
}

type Parts = { readonly actions: readonly ActionFacts[]; readonly projectId: string }

function Chooser({ actions, projectId }: Parts) {
  const { action: name = 'svc.detect' } = route.useSearch()
  const navigate = route.useNavigate()
  // Kept from action to action: one enrolls and then identifies the same picture.
  const [entries, setEntries] = useState<Entries>({})
  const [pictures, setPictures] = useState<readonly Picture[]>([])
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
      <Workbench
        key={action.name}
        action={action}
        projectId={projectId}
        entries={entries}
        pictures={pictures}
        onEntries={setEntries}
        onPictures={setPictures}
      />
    </>
  )
}
