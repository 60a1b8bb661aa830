import { Alert, Anchor, Stack } from '@mantine/core'
import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { OverviewAlert } from '../api/responses.ts'

const severityColors = {
  info: 'var(--fg-ok)',
  warning: 'var(--fg-warn)',
  critical: 'var(--fg-bad)',
} as const

/** The alerts of the server and of the selected projects, in the order of the server: most severe first. */
export function AlertList({ alerts }: { readonly alerts: readonly OverviewAlert[] }) {
  if (alerts.length === 0) return null
  return (
    <Stack gap="xs" component="section" aria-label="Alerts">
      {alerts.map((alert) => (
        <Alert
          key={`${alert.kind} ${alert.projectId} ${alert.keyId} ${alert.text}`}
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
          {alert.text} <AlertLink alert={alert} />
        </Alert>
      ))}
    </Stack>
  )
}

function AlertLink({ alert: { kind, projectId } }: { readonly alert: OverviewAlert }) {
  const { to, label } = alertLinkOf(kind)
  return (
    <Anchor
      size="sm"
      underline="always"
      renderRoot={(props) => (
        <Link {...props} to={to} search={(old) => ({ ...old, ...(projectId && { projectId }) })} />
      )}
    >
      {label}
    </Anchor>
  )
}

function alertLinkOf(kind: string) {
  if (kind.startsWith('key')) return { to: '/keys', label: 'View API keys' } as const
  if (kind.startsWith('budget')) return { to: '/money', label: 'View budget' } as const
  if (kind.startsWith('webhook')) return { to: '/webhooks', label: 'View webhooks' } as const
  return { to: '/system', label: 'View system' } as const
}
