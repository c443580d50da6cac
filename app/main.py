from app.pages.serving import serve

serve()
