from app.pages.learn import serve

serve()
