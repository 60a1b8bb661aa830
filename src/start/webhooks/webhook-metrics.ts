import type { MetricSource } from '../../http/metrics/metrics.ts'
import type { OpenedWebhooks } from './open-webhooks.ts'

/** The deliveries of this process, and the state of the outbox that all servers share. */
export function webhookMetrics(
  opened: Pick<OpenedWebhooks, 'deliveryCounts' | 'outbox'>,
): MetricSource[] {
  const gauge = (name: string, help: string, read: () => number): MetricSource => ({
    name,
    help,
    kind: 'gauge',
    labels: [],
    read: () => [{ labels: {}, value: read() }],
  })
  return [
    {
      name: 'facegate_webhook_attempts_total',
      help: 'Attempts of this process to deliver a webhook event, by outcome.',
      kind: 'counter',
      labels: ['outcome'],
      read: () =>
        Object.entries(opened.deliveryCounts()).map(([outcome, value]) => ({
          labels: { outcome },
          value,
        })),
    },
    gauge(
      'facegate_webhook_pending_deliveries',
      'Webhook events of all servers that wait for their delivery.',
      () => opened.outbox().pending,
    ),
    gauge(
      'facegate_webhooks_failing',
      'Webhooks whose last attempt failed.',
      () => opened.outbox().failing,
    ),
    gauge(
      'facegate_webhook_discarded_events',
      'Events that existing webhooks did not receive because their outbox was full.',
      () => opened.outbox().discarded,
    ),
  ]
}
