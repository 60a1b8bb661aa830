import { Text } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAnswer } from '../api/use-api.ts'
import { Answered } from './answered.tsx'
import { Empty } from './empty.tsx'

/**
 * For pages that need one project: the one of the address, else the first. Which one it is stands
 * above the content.
 */
export function InProject({ children }: { readonly children: (projectId: string) => ReactNode }) {
  const { projectId } = useSearch({ from: '__root__' })
  const projects = useAnswer('/projects')
  return (
    <Answered asked={projects}>
      {({ items }) => {
        const project = items.find((known) => known.projectId === projectId) ?? items[0]
        if (!project)
          return <Empty title="No project yet">Make one under Projects; it brings a gallery.</Empty>
        return (
          <>
            <Text size="sm" c="dimmed">
              Project: {project.name}
            </Text>
            {children(project.projectId)}
          </>
        )
      }}
    </Answered>
  )
}
