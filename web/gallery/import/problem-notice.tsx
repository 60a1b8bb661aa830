import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'

type Props = { readonly title: string; readonly problem: string | undefined }

/** States why an import cannot start or stopped. Renders nothing without a problem. */
export function ProblemNotice({ title, problem }: Props) {
  if (problem === undefined) return null
  return (
    <Alert
      role="alert"
      variant="default"
      icon={<IconAlertTriangle size={18} color="var(--fg-bad)" aria-hidden />}
      title={title}
    >
      {problem}
    </Alert>
  )
}
