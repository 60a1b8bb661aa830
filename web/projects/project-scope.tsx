import { Select, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { onlyProject } from './only-project.ts'

/**
 * Selects the project for a page that requires one: the project in the URL, or the only one. Its name
 * is shown above the content. Otherwise the user chooses a project first.
 */
export function ProjectScope({
  children,
}: {
  readonly children: (projectId: string) => ReactNode
}) {
  const { projectId } = useSearch({ from: '__root__' })
  const projects = useApiQuery('/projects')
  return (
    <QueryContent query={projects}>
      {({ items }) => {
        if (items.length === 0)
          return <EmptyState title="No projects">Create a project on the Projects page.</EmptyState>
        const project =
          projectId === undefined
            ? onlyProject(items)
            : items.find((item) => item.projectId === projectId)
        if (!project) return <ProjectPicker projects={items} isUnknown={projectId !== undefined} />
        return (
          <>
            <Text size="sm" c="dimmed" {...(projectId === undefined && { visibleFrom: 'xs' })}>
              Project: {project.name}
            </Text>
            {children(project.projectId)}
          </>
        )
      }}
    </QueryContent>
  )
}

type PickerProps = {
  readonly projects: readonly { readonly projectId: string; readonly name: string }[]
  /** Whether the URL contains a project that the account does not have. */
  readonly isUnknown: boolean
}

function ProjectPicker({ projects, isUnknown }: PickerProps) {
  const navigate = useNavigate()
  return (
    <Stack className="fg-panel" gap="sm">
      <Text size="sm">
        {isUnknown
          ? 'The account has no project with the id in the address.'
          : 'This page shows one project at a time.'}
      </Text>
      <Select
        label="Choose a project"
        placeholder={`${projects.length} projects`}
        maw={360}
        searchable
        data={projects.map(({ projectId: value, name: label }) => ({ value, label }))}
        value={null}
        onChange={(value) =>
          // The other parameters stay, such as the action of the playground.
          void navigate({
            to: '.',
            search: (old) => ({ ...old, projectId: value ?? undefined }),
          })
        }
      />
    </Stack>
  )
}
