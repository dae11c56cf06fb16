-- Which customers with an open support ticket had a payment fail this week?
SELECT c.customer_id, c.email, t.ticket_id, p.failure_reason
FROM app_pg.public.customers      c
JOIN billing_mysql.billing.payments p ON p.customer_ref   = c.billing_ref
JOIN support_pg.public.tickets      t ON t.customer_email = c.email
WHERE p.status = 'failed'
  AND p.attempted_at >= current_date - INTERVAL '7' DAY
  AND t.status = 'open';
