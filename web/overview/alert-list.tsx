import { Alert, Anchor, Stack } from '@mantine/core'
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { OverviewAlert as AlertFacts } from '../api/responses.ts'

const severityColors = {
  info: 'var(--fg-ok)',
  warning: 'var(--fg-warn)',
  critical: 'var(--fg-bad)',
} as const

/** What needs somebody's attention, worst first as the server sorts it. */
export function AlertList({ alerts }: { readonly alerts: readonly AlertFacts[] }) {
  if (alerts.length === 0) return null
  return (
    <Stack gap="xs" component="section" aria-label="Alerts">
      {alerts.map((alert) => (
        <Alert
          key={`${alert.kind} ${alert.projectId} ${alert.keyId}`}
          variant="default"
          py="xs"
          role="note"
          icon={
            alert.severity === 'info' ? (
              <IconInfoCircle size={18} color={severityColors.info} aria-hidden />
            ) : (
              <IconAlertTriangle size={18} color={severityColors[alert.severity]} aria-hidden />
            )
          }
        >
          {alert.text} <AlertLink kind={alert.kind} />
        </Alert>
      ))}
    </Stack>
  )
}

function AlertLink({ kind }: { readonly kind: string }) {
  const to = kind.startsWith('key') ? '/keys' : kind.startsWith('budget') ? '/money' : '/system'
  return (
    <Anchor size="sm" underline="always" renderRoot={(props) => <Link {...props} to={to} />}>
      Look at it
    </Anchor>
  )
}
