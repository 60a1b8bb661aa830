import { Text } from '@mantine/core'
import { useLocation, useSearch } from '@tanstack/react-router'

/** Pages that show the whole account, whatever project is selected. */
const accountPages = /^\/(?:projects|money|models|team|team\/audit|system)\/?$/u

/** States on a page of the whole account that the selected project does not limit it. */
export function AllProjectsNote() {
  const { projectId } = useSearch({ from: '__root__' })
  const isAccountPage = useLocation({ select: ({ pathname }) => accountPages.test(pathname) })
  if (projectId === undefined || !isAccountPage) return null
  return (
    <Text size="sm" mt={4} c="dimmed" role="note">
      This page shows all projects. The selected project does not limit it.
    </Text>
  )
}
